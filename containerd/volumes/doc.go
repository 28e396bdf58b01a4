// Package volumes owns the directories that belong to one run, and the file in which its
// program leaves an answer. A run's Spec comes in; directories are made, filled, handed
// over and removed, and answers are read without trust: what a program leaves may be a
// link, a device, a file without end. They lie on the data's file system, so that what a
// program wrote can be renamed to where it is kept.
package volumes
