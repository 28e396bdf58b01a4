// Package versions looks at the versions of declared artifacts, copies their files and
// pins them in the lock file, for people who want to know or to decide: no plan is made.
// A manifest, what the state and the lock file say, and a way to ask images come in; what
// was found goes out, as documents that are printed. It owns which versions a few words
// mean, and writes nothing but the lock file.
package versions
