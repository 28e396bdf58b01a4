// Package lines holds artifacts and publishes to what is promised of them, in random
// histories: versions that come, go and are rewritten, also between a plan and its apply;
// puts that fail, that die, and whose ends nobody sees. It owns no part of the tool: the
// world is in memory, and all else is what a command uses.
package lines
