import fc from 'fast-check';

// That a property fails is all that counts here; to look for its smallest case takes most of the time.
fc.configureGlobal({ endOnFailure: true });
