import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type Delivery, OnDomainEvent } from 'petstore-service';
import type { Repository } from 'typeorm';
import { AdoptionLetter } from './adoption-letter.entity.js';
import { ADOPTION_APPROVED, type AdoptionApproved } from './adoptions.events.js';

/** Writes to adopters. A letter is a row here; one that is sent carries the delivery’s id to the mail server. */
@Injectable()
export class AdoptionMail {
  constructor(@InjectRepository(AdoptionLetter) private readonly letters: Repository<AdoptionLetter>) {}

  /** An event can come twice: its second delivery has the same id, and writes nothing. */
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
