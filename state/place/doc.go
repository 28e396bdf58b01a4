// Package place finds states: in files of this machine, or in stores that several
// machines use.
//
// It manages locks, and stores the bytes of a state, of its journal and of its copies; it
// knows neither what they mean nor how they are encrypted. A path or a URL comes in, and
// a Backend goes out.
package place
