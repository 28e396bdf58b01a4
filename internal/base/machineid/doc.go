// Package machineid names the machine by the data directory in which it runs images:
// a directory comes in, a random name that it is given once goes out. Who has begun
// something there, or is to find it again, knows it by that name: owners of shared
// states, and clients of hosts.
package machineid
