// Package artifacts finds out which version of each artifact a plan is about. Declared
// artifacts, what the lock file and the state say, and a client of artifact images come
// in; pins go out, and what expressions see of them. It owns the choice of a version and
// the words about it. It fetches nothing but what is asked for.
package artifacts
