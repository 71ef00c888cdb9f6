// The public API of the catalogue; packages import it as `petstore-service/pets`.
export { PET_STATUSES, Pet, type PetStatus } from './pet.entity.js';
export { PETS_ERRORS } from './pets.errors.js';
export { PET_CREATED, type PetCreated } from './pets.events.js';
export { PetsModule } from './pets.module.js';
export { PetsService } from './pets.service.js';
