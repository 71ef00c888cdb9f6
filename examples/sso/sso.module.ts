import { Global, Module } from '@nestjs/common';
import { CredentialVerifier } from 'petstore-service';
import { JwtVerifier } from './jwt.verifier.js';

/** Accepts tokens from the single sign-on in addition to API keys. */
@Global()
@Module({
  providers: [{ provide: CredentialVerifier, useClass: JwtVerifier }],
  exports: [CredentialVerifier],
})
export class SsoModule {}
