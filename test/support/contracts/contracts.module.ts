import { Global, Module } from '@nestjs/common';
import { QuotaPolicy } from '../../../src/throttling/quota-policy.js';
import { ContractPolicy } from './contract-policy.js';

@Global()
@Module({ providers: [{ provide: QuotaPolicy, useClass: ContractPolicy }], exports: [QuotaPolicy] })
export class ContractsModule {}
