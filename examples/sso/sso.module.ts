import { Global, Module } from '@nestjs/common';
import { CredentialVerifier } from 'petstore-service';
import { JwtVerifier } from './jwt.verifier.js';

/** Tokens of the single sign-on, beside API keys. */
@Global()
@Module({
  providers: [{ provide: CredentialVerifier, useClass: JwtVerifier }],
  exports: [CredentialVerifier],
})
export class SsoModule {}
