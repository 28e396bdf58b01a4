// Package announce sends what the engine does as events to programs: plans, ends of
// applies, and the progress of pulls. Values of the engine come in; events without
// secrets go out to a function that sends them.
package announce
