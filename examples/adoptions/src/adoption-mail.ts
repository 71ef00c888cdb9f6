import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type Delivery, OnDomainEvent } from 'petstore-service';
import type { Repository } from 'typeorm';
import { AdoptionLetter } from './adoption-letter.entity.js';
import { ADOPTION_APPROVED, type AdoptionApproved } from './adoptions.events.js';

/** Writes letters to adopters. Here, a letter is a row. A real one would be sent to a mail server together with the delivery’s id. */
@Injectable()
export class AdoptionMail {
  constructor(@InjectRepository(AdoptionLetter) private readonly letters: Repository<AdoptionLetter>) {}

  /** An event can be delivered twice. The second delivery has the same id, so it writes no letter. */
  @OnDomainEvent(ADOPTION_APPROVED, { listener: 'adoptions.mailer' })
  async write(
    { id: adoptionId, petId, adopterName }: AdoptionApproved,
    { id: deliveryId }: Delivery,
  ): Promise<void> {
    const text = `Dear ${adopterName}, the animal ${petId} is yours.`;
    await this.letters
      .createQueryBuilder()
      .insert()
      .values({ deliveryId, adoptionId, text })
      .orIgnore()
      .updateEntity(false)
      .execute();
  }
}
