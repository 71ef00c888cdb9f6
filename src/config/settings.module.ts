import { Global, Module } from '@nestjs/common';
import { loadSettings } from './load-settings.js';
import { Settings } from './settings.js';

/** Provides Settings to every module. */
@Global()
@Module({ providers: [{ provide: Settings, useFactory: loadSettings }], exports: [Settings] })
export class SettingsModule {}
