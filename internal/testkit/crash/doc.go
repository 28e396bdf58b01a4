// Package crash runs a program under ptrace and ends it, or makes one of its
// system calls fail, at a chosen one of those that touch files below a
// directory. It is for tests: whoever runs a program once for each call has
// seen it crash in every place where a crash can matter.
//
// It works on Linux on amd64, which is where the sweeps are run.
package crash
