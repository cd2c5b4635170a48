"""Makes the module falafel._declarations from falafel.h, so that the header alone declares the
functions. cffi understands C without the preprocessor."""

import os
import pathlib
import re

from cffi import FFI

header = pathlib.Path(os.environ["FALAFEL_HEADER"]).read_text()
for_c = re.sub(r"^#ifdef __cplusplus.*?^#endif", "", header, flags=re.DOTALL | re.MULTILINE)
without_directives = re.sub(r"^#.*$", "", for_c, flags=re.MULTILINE)

ffi = FFI()
ffi.set_source("falafel._declarations", None)
ffi.cdef(re.sub(r"FALAFEL_API|__extension__", "", without_directives))
ffi.cdef("void free(void*);")
