// Package capacity reserves the disk space for the outcomes of running actions, so that no action runs whose outcome could not be
// recorded. Sizes and a log come in; reservations go out. It knows neither records nor actions beyond their names.
package capacity
