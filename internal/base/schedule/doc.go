// Package schedule reads when something is due again and again: the five fields of cron, in UTC. A text comes in, times go out.
// It knows the library that parses them.
package schedule
