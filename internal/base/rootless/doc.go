// Package rootless lets a user who is not root run containers: it moves this process into a user
// namespace that all commands of the user share, in which the user is root. A reason why that is not
// possible goes out as an error for users; children that must act as the user go in.
package rootless
