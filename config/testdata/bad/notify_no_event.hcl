# error 5:10 it has no event, so that nothing would be sent
# error 3:14 The argument "type" is required
notify "ops" {

  on   = []
}
