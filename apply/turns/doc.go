// Package turns decides what may act now in an apply, and what acts together: semaphores bound how
// many resources act at a time, Batches gathers the actions that one worker carries out together,
// Hosts keeps which hosts a rolling apply has begun and which have failed, and Schedule reports how many
// hosts each of its waves begins. The declared
// semaphores, and the plan with what a killed run of it had done, come in.
package turns
