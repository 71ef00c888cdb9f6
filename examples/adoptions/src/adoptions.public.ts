// What a service that installs the package uses of it: the module for its app.module.ts, and what listeners need.
export { ADOPTIONS_ERRORS } from './adoptions.errors.js';
export {
  ADOPTION_APPROVED,
  ADOPTION_REQUESTED,
  type AdoptionApproved,
  type AdoptionRequested,
} from './adoptions.events.js';
export { AdoptionsModule } from './adoptions.module.js';
