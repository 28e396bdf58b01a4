// Package packed compresses programs for a host, and restores them there: gzip, which every host has, takes
// three times as long. The path of a program comes in, its compressed content goes out, and the other way
// round.
package packed
