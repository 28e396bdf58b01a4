// Package approval owns what a person has said yes to before a plan is carried out: the
// words of -confirm, -approve and -deferred, what they leave open, and who is asked for
// the rest. Options and a plan come in; what apply asks on its way goes out, or a refusal.
package approval
