// Package exports has the form in which the outputs of a state are published for other projects, next to the state.
//
// A snapshot comes in, and the bytes of a document go out, which a reader checks against what it has used before. The package
// knows neither where these bytes are kept nor who may read them; package state writes them after each commit.
package exports
