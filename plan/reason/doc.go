// Package reason has the reasons and notes of a plan as codes with references, and their
// words. The words stand only here, and no plan contains them: errors of plan and apply
// need them as well as what is shown.
package reason
