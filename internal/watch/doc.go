// Package watch decides when each recorded resource is looked at, and when what
// drifted is repaired. It owns the time: polls, events, back-off, hold-back.
// Generations of resources come in, with who looks, repairs and tells of events;
// what happened goes out, one Event after the other. It knows no files, no
// containers and no flags: those are of the interfaces here.
//
// One goroutine owns all that changes. Looks, the one repair and the processes
// that watch run beside it, and send back what became of them:
//
//	generation   takes over the resources of a new generation
//	start        starts the looks and the repair that are due
//	looked       holds what a look found to what was found before
//	repaired     takes the outcome of a repair; holds back the next
//	read         reads what processes have told: one note for each, however many events
package watch
