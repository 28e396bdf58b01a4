// Package unsettled finds out how actions ended whose end deployster did not see: their command was
// killed or interrupted. A state with such actions comes in; the state with their ends goes out,
// and the resources about which nothing may be done yet.
package unsettled
