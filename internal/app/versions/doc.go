// Package versions shows the versions of declared artifacts, copies their files and pins
// them in the lock file. It makes no plan: it is for people who want to know or to
// decide. A manifest, the state, the lock file, and a way to query images come in;
// documents to print go out. It owns which version a few KEY=VALUE parts mean, and writes
// nothing but the lock file.
package versions
