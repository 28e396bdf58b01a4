// Package fresh decides whether a plan still fits the state that it was made with. A plan and
// a state come in, and the reason why the plan is stale goes out.
package fresh
