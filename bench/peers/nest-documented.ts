// (b) NestJS the way its documentation teaches: TypeORM's find, ThrottlerGuard with two throttlers, a guard that looks the
// key up per request, ValidationPipe, ClassSerializerInterceptor; on the same SQLite file as the service.
import 'reflect-metadata';
import { createHash } from 'node:crypto';
import {
  Body,
  ClassSerializerInterceptor,
  Controller,
  Get,
  Injectable,
  Module,
  NotFoundException,
  Param,
  ParseIntPipe,
  Post,
  Query,
  UnauthorizedException,
  ValidationPipe,
  type CanActivate,
  type ExecutionContext,
} from '@nestjs/common';
import { APP_GUARD, APP_INTERCEPTOR, APP_PIPE, NestFactory } from '@nestjs/core';
import { ThrottlerGuard, ThrottlerModule } from '@nestjs/throttler';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { Type } from 'class-transformer';
import { IsIn, IsInt, IsOptional, IsString, Max, MaxLength, Min } from 'class-validator';
import type { Request } from 'express';
import { Column, Entity, MoreThanOrEqual, PrimaryColumn, PrimaryGeneratedColumn, Repository } from 'typeorm';

const STATUSES = ['available', 'pending', 'sold'];

@Entity('pets')
class Pet {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column()
  name!: string;

  @Column({ name: 'category_id' })
  categoryId!: number;

  @Column()
  status!: string;
}

@Entity('api_keys')
class ApiKey {
  @PrimaryColumn()
  id!: string;

  @Column()
  digest!: string;
}

class ListPets {
  @Type(() => Number)
  @IsInt()
  @Min(1)
  @Max(100)
  limit: number = 20;

  @IsOptional()
  @IsIn(STATUSES)
  status?: string;

  @IsOptional()
  @Type(() => Number)
  @IsInt()
  from?: number;
}

class NewPet {
  @IsString()
  @MaxLength(255)
  name!: string;

  @IsInt()
  categoryId!: number;

  @IsOptional()
  @IsIn(STATUSES)
  status?: string;
}

@Injectable()
class ApiKeyGuard implements CanActivate {
  constructor(@InjectRepository(ApiKey) private readonly keys: Repository<ApiKey>) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const { authorization = '' } = context.switchToHttp().getRequest<Request>().headers;
    const digest = createHash('sha256').update(authorization.replace('Bearer ', '')).digest('hex');
    if (!(await this.keys.findOneBy({ digest }))) throw new UnauthorizedException();
    return true;
  }
}

@Controller('v1/pets')
class PetsController {
  constructor(@InjectRepository(Pet) private readonly pets: Repository<Pet>) {}

  @Get()
  list(@Query() { limit, status, from }: ListPets): Promise<Pet[]> {
    const where = { ...(status ? { status } : {}), ...(from ? { id: MoreThanOrEqual(from) } : {}) };
    return this.pets.find({ where, order: { id: 'ASC' }, take: limit });
  }

  @Get(':petId')
  async get(@Param('petId', ParseIntPipe) id: number): Promise<Pet> {
    const pet = await this.pets.findOneBy({ id });
    if (!pet) throw new NotFoundException();
    return pet;
  }

  @Post()
  create(@Body() { name, categoryId, status = 'available' }: NewPet): Promise<Pet> {
    return this.pets.save(this.pets.create({ name, categoryId, status }));
  }
}

@Module({
  imports: [
    TypeOrmModule.forRoot({
      type: 'sqlite',
      database: process.env.DATABASE_FILE ?? '',
      entities: [Pet, ApiKey],
      enableWAL: true,
    }),
    TypeOrmModule.forFeature([Pet, ApiKey]),
    ThrottlerModule.forRoot([
      { name: 'minute', ttl: 60_000, limit: 1e9 },
      { name: 'day', ttl: 86_400_000, limit: 1e9 },
    ]),
  ],
  controllers: [PetsController],
  providers: [
    { provide: APP_GUARD, useClass: ThrottlerGuard },
    { provide: APP_GUARD, useClass: ApiKeyGuard },
    { provide: APP_PIPE, useValue: new ValidationPipe({ transform: true, whitelist: true }) },
    { provide: APP_INTERCEPTOR, useClass: ClassSerializerInterceptor },
  ],
})
class AppModule {}

const app = await NestFactory.create(AppModule, { logger: false });
await app.listen(0, '127.0.0.1');
process.send?.({ port: (app.getHttpServer() as { address(): { port: number } }).address().port });
