import { Global, Module } from '@nestjs/common';
import { AppLogger } from './app-logger.js';

/** Provides the logger to every module. */
@Global()
@Module({ providers: [AppLogger], exports: [AppLogger] })
export class LoggingModule {}
