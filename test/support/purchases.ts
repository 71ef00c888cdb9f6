import { Body, Controller, Module, Post } from '@nestjs/common';
import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { InjectRepository } from '@nestjs/typeorm';
import { Type } from 'class-transformer';
import { ArrayMaxSize, ArrayMinSize, IsObject, ValidateNested } from 'class-validator';
import { Column, DataSource, Entity, ForeignKey, type Repository } from 'typeorm';
import { RequireScopes } from '../../src/auth/auth.decorators.js';
import { Int64Column, Int64Key } from '../../src/database/int64.js';
import { References } from '../../src/database/references.js';
import { Operation, Tag } from '../../src/http/declarations/operation.decorator.js';
import { Int64, Integer, Text } from '../../src/http/validation/fields.js';
import { Pet } from './pets/pet.entity.js';
import { PETS_SCOPES } from './pets/pets.scopes.js';
import { addedTable } from './added-table.js';

// A module that a team might add: purchases of several animals at once. docs/guides/writes.md quotes it.

@Entity('purchases')
export class Purchase {
  @Int64Key()
  id!: bigint;

  @Column('varchar', { length: 100 })
  customer!: string;
}

@Entity('purchase_lines')
export class PurchaseLine {
  @Int64Key()
  id!: bigint;

  @Int64Column({ name: 'purchase_id' })
  @ForeignKey(() => Purchase, { name: 'purchase_lines_purchase' })
  purchaseId!: bigint;

  @Int64Column({ name: 'pet_id' })
  @ForeignKey(() => Pet, { name: 'purchase_lines_pet' })
  petId!: bigint;

  @Column('integer', { name: 'price_cents' })
  priceCents!: number;
}

export class LineDto {
  @Int64({ description: 'The animal', example: 1 })
  petId!: bigint;

  @Integer({ description: 'Its price in cents', example: 500, minimum: 0, maximum: 100_000_000 })
  priceCents!: number;
}

@ApiSchema({ name: 'NewPurchase', description: 'Animals that a customer buys together.' })
export class NewPurchase {
  @Text({ description: 'Who buys them', example: 'Ada Lovelace', maxLength: 100 })
  customer!: string;

  @ApiProperty({ description: 'The animals', type: [LineDto], minItems: 1, maxItems: 100 })
  @ArrayMinSize(1)
  @ArrayMaxSize(100)
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => LineDto)
  lines!: LineDto[];
}

@ApiSchema({ name: 'Purchase', description: 'A purchase.' })
export class PurchaseDto extends NewPurchase {
  @Int64({ description: 'Identifier assigned by the service', example: 1 })
  id!: bigint;
}

@Tag('purchases', 'Purchases of animals.')
@Controller({ path: 'purchases', version: '1' })
export class PurchasesController {
  constructor(
    @InjectRepository(Purchase) private readonly purchases: Repository<Purchase>,
    @InjectRepository(PurchaseLine) private readonly lines: Repository<PurchaseLine>,
    private readonly references: References,
    private readonly dataSource: DataSource,
  ) {}

  @Post()
  @RequireScopes(PETS_SCOPES.write)
  @Operation({
    id: 'addPurchase',
    summary: 'Buy animals',
    description: 'Buys all animals of the lines, or none.',
    responses: { status: 201, type: PurchaseDto, description: 'The purchase' },
  })
  addPurchase(@Body() { customer, lines }: NewPurchase): Promise<PurchaseDto> {
    return this.dataSource.transaction(async () => {
      const purchase = this.purchases.create({ customer });
      await this.purchases.insert(purchase);
      const rows = lines.map(({ petId, priceCents }) =>
        this.lines.create({ purchaseId: purchase.id, petId, priceCents }),
      );
      await this.references.write(PurchaseLine, rows, () => this.lines.insert(rows), 'lines');
      return { id: purchase.id, customer, lines };
    });
  }
}

@Module({ imports: [Purchase, PurchaseLine].map(addedTable), controllers: [PurchasesController] })
export class PurchasesModule {}
