// Package modeltest holds the engine to a model, in random scenarios: manifests
// that are edited step by step, plans that are applied at once or late, actions
// that fail, interrupts, crashes, people who change things by hand. The model is
// written from the documentation and knows nothing of the engine. The package
// owns the world in which scenarios run; a seed comes in, and what was not as the
// model says comes out, shrunk and written as a test.
//
// After each step must hold:
//
//   - The plan has for each resource what the model has: change, config, actions, what it waits for; or
//     there is none.
//   - Each resource is queried right before it is acted on; the actions are those shown, with that config,
//     unless deferred or "may change".
//   - Nothing starts before its dependencies are valid, or is destroyed under a recorded dependant;
//     shutdown_first is first.
//   - An intent is on disk before its action; valid results are recorded, failed ones as before; the state is
//     readable at every moment; there is one apply at a time.
//   - The report has what happened, each error has a cause; after a failure or an interrupt nothing new starts.
//   - Only stale plans are refused; no secret reaches an image before it is known as one.
//   - Without faults one apply is enough: the next plan is empty.
package modeltest
