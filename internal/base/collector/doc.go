// Package collector sets how much garbage a command may make before Go's collector runs. Input:
// GOGC of the environment, what is live after each collection, and a call of Usual by servers.
// It uses an init function and not one that main calls: Go
// initialises packages in the order of their paths, and this one imports no other package of
// the project, so that it comes first. Otherwise what the others initialise would be collected
// twice, which takes 12 of the 98 ms of processor time of `deployster version` at the least,
// and 25 of 118 in the median.
package collector
