// Package place knows where states lie: in files of this machine, or in stores that
// several machines use.
//
// It owns locks, and how the bytes of a state, of its journal and of its copies are
// kept; it knows neither what they mean nor how they are encrypted. A path or a URL
// comes in, and a Backend goes out.
package place
