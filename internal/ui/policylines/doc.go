// Package policylines owns the words about what policies found about a plan. Its input are verdicts; its output is
// text for people.
package policylines
