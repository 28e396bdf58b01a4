// Package sets holds exclusive sets to what is promised of them, in random histories of two states on one machine: objects that
// others make, resources that come and go, that fail, that cannot be read or are known late, plans of a part, and applies that
// die. It owns no part of the tool: the world is in memory, and all else is what a command uses.
package sets
