// Package verdict owns what policies found about a plan, as the plan keeps it: the results of each policy, what
// they mean by its level, and who has overridden it. Its input are results of images and of rules; its output is
// part of a plan, under its id and its digest.
package verdict
