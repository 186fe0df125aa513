"""Empty stand-ins for CUDA's libraries, so that the runtime's own tables can be read anywhere.

The CUDA provider registers its kernels, and decides which node goes where, before it computes
anything. With libraries whose functions do nothing it does both without a GPU. Nothing runs and
nothing is timed on them: they serve `read_kernels` and the tests that compare `placement` with the
runtime's own decision.
"""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path

_NEEDED = re.compile(r"\s+U (\w+)@(lib\w+\.so\.\d+)$")
_PROVIDERS = ("cuda", "tensorrt")
_WITHOUT_VERSIONS = {
    "libcuda.so.1": "cuTensorMapEncodeTiled",
    "libnvonnxparser.so.10": "createNvOnnxParserRefitter_INTERNAL createNvOnnxParser_INTERNAL",
    "libcurand.so.10": "",
    "libnvinfer.so.10": "",
}
_HEADER = "#include <stdlib.h>\n#include <string.h>\n"

# What has to answer with more than 0: one device of compute capability 9.0, host memory as its own.
_ANSWERS = """
int cudaGetDeviceCount(int*n){*n=1;return 0;}
int cudaGetDevice(int*n){*n=0;return 0;}
int cudaGetDeviceProperties(char*p,int d){memset(p,0,1008);*(int*)(p+360)=9;return 0;}
int cudaDeviceGetAttribute(int*v,int a,int d){*v=a==75?9:a==76?0:1024;return 0;}
int cudaMalloc(void**p,size_t n){*p=malloc(n+1);return 0;}
int cudaMallocHost(void**p,size_t n){*p=malloc(n+1);return 0;}
int cudaHostAlloc(void**p,size_t n,unsigned f){*p=malloc(n+1);return 0;}
int cudaFree(void*p){free(p);return 0;}
int cudaFreeHost(void*p){free(p);return 0;}
int cudaMemcpy(void*d,const void*s,size_t n,int k){memcpy(d,s,n);return 0;}
int cudaMemcpyAsync(void*d,const void*s,size_t n,int k,void*t){memcpy(d,s,n);return 0;}
int cudaMemset(void*d,int v,size_t n){memset(d,v,n);return 0;}
int cudaMemsetAsync(void*d,int v,size_t n,void*t){memset(d,v,n);return 0;}
int cudaMemGetInfo(size_t*a,size_t*b){*a=*b=1ull<<36;return 0;}
int cudaStreamCreate(void**p){*p=malloc(8);return 0;}
int cudaStreamCreateWithFlags(void**p,unsigned f){*p=malloc(8);return 0;}
int cudaEventCreate(void**p){*p=malloc(8);return 0;}
int cudaEventCreateWithFlags(void**p,unsigned f){*p=malloc(8);return 0;}
int cudaStreamEndCapture(void*s,void**g){*g=malloc(8);return 0;}
int cudaGraphInstantiate(void**e,void*g,unsigned f){*e=malloc(8);return 0;}
int cudaDriverGetVersion(int*v){*v=13000;return 0;}
int cudaRuntimeGetVersion(int*v){*v=13000;return 0;}
const char*cudaGetErrorString(int e){return "none";}
const char*cudaGetErrorName(int e){return "none";}
const char*cublasGetStatusName(int e){return "none";}
const char*cublasGetStatusString(int e){return "none";}
int cublasCreate_v2(void**p){*p=malloc(8);return 0;}
int cublasLtCreate(void**p){*p=malloc(8);return 0;}
int cudnnCreate(void**p){*p=malloc(8);return 0;}
"""
# TensorRT's objects: every method returns 0.
_INFER = """
static long none(void){return 0;}
static void*methods[400];
static struct{void*table;long rest[64];}object;
static void*made(void){
    for(int i=0;i<400;i++)methods[i]=(void*)none;
    object.table=methods;return &object;}
void*createInferBuilder_INTERNAL(){return made();}
void*createInferRefitter_INTERNAL(){return made();}
void*createInferRuntime_INTERNAL(){return made();}
void*getPluginRegistry(){return made();}
int getInferLibVersion(){return 101000;}
"""


class CannotBuild(Exception):
    """There is no compiler, no `nm`, or no runtime with the CUDA provider here."""


def build(folder: Path) -> None:
    """Write the libraries into `folder`, which is then given as LD_LIBRARY_PATH.

    Raises:
        CannotBuild: see there.
    """
    answers = {_name(line): line for line in _ANSWERS.splitlines() if line}
    for library, names in _wanted().items():
        if library == "libnvinfer.so.10":
            source = _INFER
        else:
            lines = (answers.get(name, f"long {name}(){{return 0;}}") for name in sorted(names))
            source = _HEADER + "\n".join(lines)
        _compile(folder / library, source, versions=library not in _WITHOUT_VERSIONS)


def _name(line: str) -> str:
    return line.partition("(")[0].rpartition("*")[2].rpartition(" ")[2]


def _wanted() -> dict[str, set[str]]:
    """Library -> functions that the runtime's providers take from it."""
    spec = importlib.util.find_spec("onnxruntime")
    folder = Path(spec.origin).parent / "capi" if spec is not None and spec.origin else Path()
    files = [folder / f"libonnxruntime_providers_{name}.so" for name in _PROVIDERS]
    if not all(map(Path.is_file, files)) or not all(map(shutil.which, ("nm", "gcc"))):
        raise CannotBuild("gcc, nm and onnxruntime-gpu are needed")
    found = {library: set(names.split()) for library, names in _WITHOUT_VERSIONS.items()}
    for file in files:
        for line in _output(["nm", "-D", "--undefined-only", str(file)]):
            match = _NEEDED.match(line)
            if match:
                found.setdefault(match[2], set()).add(match[1])
    return found


def _output(command: Iterable[str]) -> list[str]:
    done = subprocess.run(list(command), capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def _compile(target: Path, source: str, *, versions: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        code, script = Path(folder) / "blank.c", Path(folder) / "blank.map"
        code.write_text(source)
        script.write_text(f"{target.name} {{ global: *; }};\n")
        command = ["gcc", "-shared", "-fPIC", "-w", "-o", str(target), str(code)]
        command.append(f"-Wl,-soname,{target.name}")
        if versions:
            command.append(f"-Wl,--version-script={script}")
        subprocess.run(command, check=True, capture_output=True)
