// The public API of the package: the module for the app.module.ts of a service, and the events for its listeners.
export { ADOPTIONS_ERRORS } from './adoptions.errors.js';
export {
  ADOPTION_APPROVED,
  ADOPTION_REQUESTED,
  type AdoptionApproved,
  type AdoptionRequested,
} from './adoptions.events.js';
export { AdoptionsModule } from './adoptions.module.js';
