// Package apply carries out a plan: exactly what it says, in dependency order,
// in parallel, recording each fact before anything builds on it. A plan, the
// state of now and its journal come in; a Report goes out. It owns the checks
// right before something is done. It never plans again: what was decided is
// checked and done, or refused.
package apply
