import { Global, Module } from '@nestjs/common';
import { QuotaPolicy } from 'petstore-service';
import { ContractPolicy } from './contract-policy.js';

@Global()
@Module({ providers: [{ provide: QuotaPolicy, useClass: ContractPolicy }], exports: [QuotaPolicy] })
export class ContractsModule {}
