// Package apply carries out a plan: exactly what it reports, in dependency order, in
// parallel, recording each fact before anything builds on it. It takes a plan, the
// present state and its journal, and returns a Report. It owns the checks right
// before a resource is changed. It never plans again: it checks what was decided,
// and does it or refuses.
package apply
