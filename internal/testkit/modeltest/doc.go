// Package modeltest holds the engine to a model, in random scenarios: manifests
// that are edited step by step, plans that are applied at once or late, actions
// that fail, interrupts, crashes, people who change things by hand. The model is
// written from the documentation and knows nothing of the engine. The package
// owns the world in which scenarios run; a seed comes in, and what was not as the
// model says comes out, shrunk and written as a test.
package modeltest
