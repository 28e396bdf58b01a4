// Package markdown writes a plan as a comment on a request for review. In: the text of the plan as
// people read it, with its secrets hidden, and what must not be overlooked. Out: Markdown.
package markdown
