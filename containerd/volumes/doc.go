// Package volumes manages the directories that belong to one run, and the file in which
// its program leaves an answer. A run's Spec comes in; directories are created, filled,
// handed over and removed. Answers are read without trust: a program may leave a link, a
// device, or an endless file. Volumes are on the file system of the data directory, so
// that files that a program wrote can be moved by renaming.
package volumes
