// Package machineid identifies a machine by the data directory in which it runs images: a
// directory comes in; out goes a random name, which the directory gets once. Owners of
// shared states and clients of hosts use that name to recognise the machine.
package machineid
