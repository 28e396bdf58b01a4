// Package announce tells programs of what the engine has: plans, how applies ended, and
// how far pulls are. Values of the engine come in, events go out to a function that sends
// them, without secrets.
package announce
