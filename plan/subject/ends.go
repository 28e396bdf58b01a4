package subject

// WhyEnds says why what is recorded and not declared ends.
func (s Selection) WhyEnds() string {
	if s.Destroy {
		return "you ran destroy"
	}
	return "it is no longer in the configuration"
}
