// Package actions has what is known of the actions that were started on a resource since
// it was last seen VALID: which process started them, how they ended, what a person reported
// about them, and what was put. What happens to an action comes in; what is then known goes
// out, as a value. It knows neither the state that stores it nor the journal.
package actions
