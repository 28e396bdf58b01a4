// Package etc has the kinds whose objects are files of their own in directories that one program
// reads as a whole: sudoers, cron and kernel_module. It knows which names, owners and modes that
// program accepts, and has it check a file before it is in place.
package etc
