"""The kernel language, one function per operation: owner of names, parameters, defaults, help.

The files beside this one are the text that teenyc parses. They form one flat module: a name used
here may be defined in another file.
"""
