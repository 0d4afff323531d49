{
 "1": "generated",
 "2": "written",
 "3": "generated",
 "4": "written"
}
