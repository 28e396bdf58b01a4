// Package planpage writes a plan as one page of HTML, for people who decide about
// it. It owns the page: page.html, page.css and page.js. In comes a plan with the
// diffs of its steps, out goes a file that needs no network and no other file, can
// be read without scripts, and runs nothing that stands in the plan.
package planpage
