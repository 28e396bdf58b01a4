// Package crash runs a program under ptrace and kills it, or makes one of its
// system calls fail, at a chosen one of the calls that touch files below a
// directory. A Program and a Point come in; the calls and how the program ended
// come out. Who runs a program once for each call has seen it crash wherever a
// crash can matter. It works on Linux on amd64.
package crash
